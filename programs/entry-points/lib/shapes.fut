-- A library for imports.fut.

type rectangle = {height: f64, width: f64}

def area (r: rectangle) : f64 = r.height * r.width
