/** How clients of an order's proxies authenticate, as set by its customer. */
import { z } from 'zod'
import { message } from './form-messages.ts'
import { route } from './route.ts'
import { formVersion, IdParams, Time } from './shapes.ts'

/** By password, by listed client address, or by both. Every agent supports these. */
export const CLIENT_ACCESS = ['password', 'address', 'password_and_address'] as const
export type ClientAccessKind = (typeof CLIENT_ACCESS)[number]

/** Largest number of lines in an order's list. */
export const MOST_CLIENT_LINES = 32

/** `client_ips`: addresses or prefixes; empty with `password`. */
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
  /** Null: always by password. */
  changed_at: Time.nullable(),
  version: z.string(),
  /** The caller's address. */
  your_address: z.string(),
  /** Some servers of the order have not applied the last change yet. */
  is_pending: z.boolean()
})
export type ClientAccess = z.infer<typeof ClientAccess>

const PATH = '/api/orders/order_list/:id/client_access/'

export const clientAccess = {
  clientAccess: route('GET', PATH, {
    summary: "Client access of an order's proxies",
    access: 'user',
    permission: 'orders.view',
    params: IdParams,
    reply: ClientAccess
  }),
  setClientAccess: route('PUT', PATH, {
    summary: "Set client access of an order's proxies: password, allowed IP, or both",
    access: 'user',
    permission: 'orders.change',
    params: IdParams,
    body: ClientAccessForm,
    reply: ClientAccess
  })
}
