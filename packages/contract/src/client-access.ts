/** How the clients of an order's proxies are let in, as its customer says. */
import { z } from 'zod'
import { message } from './form-messages.ts'
import { route } from './route.ts'
import { formVersion, IdParams, Time } from './shapes.ts'

/** Each agent knows these too: by the password, by a listed client address instead, or by both. */
export const CLIENT_ACCESS = ['password', 'address', 'password_and_address'] as const
export type ClientAccessKind = (typeof CLIENT_ACCESS)[number]

/** The most lines of an order's list. */
export const MOST_CLIENT_LINES = 32

/** `client_ips` are addresses or prefixes; by the password alone it is kept empty. */
export const ClientAccessForm = z
  .object({
    access: z.enum(CLIENT_ACCESS, { error: message('must_select') }),
    client_ips: z
      .array(
        z
          .string()
          .trim()
          .max(64, message('at_most_characters', { max: 64 }))
      )
      .max(MOST_CLIENT_LINES, message('client_lines', { max: MOST_CLIENT_LINES }))
      .default([])
  })
  .extend(formVersion)
export type ClientAccessForm = z.infer<typeof ClientAccessForm>

export const ClientAccess = z.object({
  access: z.enum(CLIENT_ACCESS),
  client_ips: z.array(z.string()),
  /** Null: it never was anything else than by the password. */
  changed_at: Time.nullable(),
  version: z.string(),
  /** From where this call came. */
  your_address: z.string(),
  /** Not every server of the order has heard of the last change yet. */
  is_pending: z.boolean()
})
export type ClientAccess = z.infer<typeof ClientAccess>

const PATH = '/api/orders/order_list/:id/client_access/'

export const clientAccess = {
  clientAccess: route('GET', PATH, {
    summary: "How clients of an order's proxies are let in",
    access: 'user',
    permission: 'orders.view',
    params: IdParams,
    reply: ClientAccess
  }),
  setClientAccess: route('PUT', PATH, {
    summary: "Say how clients of an order's proxies are let in: by the password, by a listed address, or by both",
    access: 'user',
    permission: 'orders.change',
    params: IdParams,
    body: ClientAccessForm,
    reply: ClientAccess
  })
}
