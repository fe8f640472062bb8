import { nextId, type PlatformCustomer, type PlatformState } from './state.ts'

export const sameEmail = (a: string, b: string): boolean => a.trim().toLowerCase() === b.trim().toLowerCase()

export const customersOf = (state: PlatformState): PlatformCustomer[] => (state.customers ??= [])

/** The customer with an address, created if needed, as the platform does at a first checkout. */
export function customerFor(state: PlatformState, email: string, at: string): PlatformCustomer {
  const known = customersOf(state).find(one => sameEmail(one.email, email))
  if (known) return known
  const made = { id: nextId(state), email: email.trim().toLowerCase(), tags: [], createdAt: at, updatedAt: at }
  customersOf(state).push(made)
  return made
}
