KD.add("manifest",{"format":1,"series":[
{"id":"lab.cpu.script-alert-1-script.gemm-f32-512x512x512-nn.tile-4.cold","page":"series/lab.cpu.script-alert-1-script.gemm-f32-512x512x512-nn.tile-4.cold.html","data":["data/lab.cpu.script-alert-1-script.gemm-f32-512x512x512-nn.tile-4.cold.recent.js"]},
{"id":"lab.cpu.openblas.gemm-f32-512x512x512-nn.cold","page":"series/lab.cpu.openblas.gemm-f32-512x512x512-nn.cold.html","data":["data/lab.cpu.openblas.gemm-f32-512x512x512-nn.cold.recent.js"]},
{"id":"lab.cpu.openblas.attention-f32-b1-h8-s1024-d64-causal.cold","page":"series/lab.cpu.openblas.attention-f32-b1-h8-s1024-d64-causal.cold.html","data":["data/lab.cpu.openblas.attention-f32-b1-h8-s1024-d64-causal.cold.recent.js"]}]});
