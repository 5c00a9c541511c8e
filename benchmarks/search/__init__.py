"""What search costs and finds: the built-in store beside bare FAISS, graphs and Milvus Lite."""
