tracker.data.add("manifest",{"format":5,"groups":[
[[0,"data/000.js"]]],"series":[
{"id":"lab.cpu.script-alert-1-script.gemm-f32-512x512x512-nn.tile-4.cold","page":"series/lab.cpu.script-alert-1-script.gemm-f32-512x512x512-nn.tile-4.cold.html","group":0},
{"id":"lab.cpu.openblas.gemm-f32-512x512x512-nn.cold","page":"series/lab.cpu.openblas.gemm-f32-512x512x512-nn.cold.html","group":0},
{"id":"lab.cpu.openblas.attention-f32-b1-h8-s1024-d64-causal.cold","page":"series/lab.cpu.openblas.attention-f32-b1-h8-s1024-d64-causal.cold.html","group":0}]});
