// The server imports drizzle-orm from here. Node parses a package's package.json for each import of it, and that one has
// 179 kB: 600 imports took a quarter of the start.
export * from 'drizzle-orm'
