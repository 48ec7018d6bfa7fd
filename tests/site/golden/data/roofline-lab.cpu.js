tracker.data.add("roofline",{"ceilings":[
{"value":40,"name":"copy","unit":"gb_per_s","source":"measured"},
{"value":800,"name":"f32","unit":"gflop_per_s","source":"datasheet"},
{"value":600,"name":"f32","unit":"gflop_per_s","source":"measured"},
{"value":340,"name":"l1 read","unit":"gb_per_s","source":"measured","cache":true}],"points":[
{"x":85.3333,"y":298.262,"efficiency":0.497103,"peak":0.372827,"title":"gemm f32 512x512x512 nn","label":"openblas","type":"f32","op":"GEMM","look":1,"href":"series/lab.cpu.openblas.gemm-f32-512x512x512-nn.cold.html","trail":[[1790038800,335.544],[1790125200,335.125]]},
{"x":128.125,"y":262.144,"efficiency":0.436907,"peak":0.32768,"title":"attention f32 B1 H8 S1024 D64 causal","label":"openblas","type":"f32","op":"Attention","look":1,"href":"series/lab.cpu.openblas.attention-f32-b1-h8-s1024-d64-causal.cold.html","trail":[[1790038800,214.958],[1790125200,214.958]]},
{"x":85.3333,"y":223.696,"efficiency":0.372827,"peak":0.27962,"title":"gemm f32 512x512x512 nn","label":"\u003cscript\u003ealert('1')\u003c/script\u003e\"\u0026 · tile=\"4\"","type":"f32","op":"GEMM","look":0,"href":"series/lab.cpu.script-alert-1-script.gemm-f32-512x512x512-nn.tile-4.cold.html","older_s":1790125200,"trail":[[1790038800,223.696]]}]});
