tracker.data.add("trends",{"devices":[
{"panels":[
{"lines":[{"time":[1790038800,86400],"index":[10000,0]},{"time":[1790038800,86400,86400],"index":[10000,-12,-1099]}]}],"marks":[[1790211600,1,1]]}]});
