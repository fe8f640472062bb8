import type { User } from '@netlet/contract'
import { randomUUID } from 'node:crypto'
import type { TestClient, TestReply } from './client.ts'

/** The header of a request that is none of those before. */
export const newKey = () => ({ 'idempotency-key': randomUUID() })

/** Edits a user with the version that it has now. */
export async function editNow(by: TestClient, id: number, form: object): Promise<TestReply<User>> {
  const found = await by.get<{ data: User[] }>(`/api/users/u/?id=${id}`)
  return by.put(`/api/users/u/${id}/`, { ...form, version: found.data.data[0]?.version })
}
