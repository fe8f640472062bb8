import type { RefundPlan } from '@netlet/contract'
import type { TestClient } from '../../testing/client.ts'

type Form = { amount?: string; platform_order?: string; version?: string }

/** Requests a refund like the console, with the version of the plan that it shows, or with the given one. */
export async function askRefund(by: Pick<TestClient, 'get' | 'post'>, { id }: { id: number }, form: Form = {}) {
  const path = `/api/orders/order_list/${id}/refund/`
  const { version, ...wanted } = form
  const plan = version ? null : await by.get<RefundPlan>(`${path}?${new URLSearchParams(wanted).toString()}`)
  return by.post<{ amount: string; platform_order: string }>(path, {
    ...wanted,
    version: version ?? plan?.data.version ?? 'none'
  })
}
