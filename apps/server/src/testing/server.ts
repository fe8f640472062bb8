import { Client } from 'pg'

export { withDatabase as databaseUrl } from '../backup/database-url.ts'

/** Runs `work` with its own connection to the server's maintenance database. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
