tracker.data.add("compare-0",{"times":[
[0,0,"lab.cpu.script-alert-1-script.gemm-f32-512x512x512-nn.tile-4.cold",0,0,0,0,0,0],
[0,1,"lab.cpu.openblas.gemm-f32-512x512x512-nn.cold",0,0,1,[90000,360,360],0,0],
[1,1,"lab.cpu.openblas.attention-f32-b1-h8-s1024-d64-causal.cold",0,0,2,[41000,246,246],0,0]]});
