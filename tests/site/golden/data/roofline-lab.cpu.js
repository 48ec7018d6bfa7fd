KD.add("roofline",{"roofs":[
{"value":40,"name":"copy","unit":"gb_per_s","source":"measured"},
{"value":800,"name":"f32","unit":"gflop_per_s","source":"datasheet"},
{"value":600,"name":"f32","unit":"gflop_per_s","source":"measured"}],"points":[
{"x":85.3333,"y":298.262,"share":0.497103,"title":"gemm f32 512x512x512 nn","label":"openblas","href":"series/lab.cpu.openblas.gemm-f32-512x512x512-nn.cold.html"},
{"x":128,"y":261.888,"share":0.43648,"title":"attention f32 B1 H8 S1024 D64 causal","label":"openblas","href":"series/lab.cpu.openblas.attention-f32-b1-h8-s1024-d64-causal.cold.html"}]});
