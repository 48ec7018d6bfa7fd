tracker.data.add("hot",{"shard":0,"ids":[
"lab.cpu.script-alert-1-script.gemm-f32-512x512x512-nn.tile-4.cold",
"lab.cpu.openblas.gemm-f32-512x512x512-nn.cold",
"lab.cpu.openblas.attention-f32-b1-h8-s1024-d64-causal.cold"]});
