module example.com/perennial

go 1.19
