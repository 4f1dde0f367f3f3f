"""Will it fit: a model's memory on a GPU, before a server is started."""
