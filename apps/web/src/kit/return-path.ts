import { pageAt } from '@netlet/contract/pages'

/** A path of this site, or undefined: what is in an address is anyone's to write. */
export function safePath(value: string | null | undefined): string | undefined {
  if (!value || !/^\/(?![/\\])/.test(value)) return undefined
  const base = 'http://site.invalid'
  const url = URL.canParse(value, base) ? new URL(value, base) : undefined
  if (url?.origin !== base) return undefined
  const path = url.pathname + url.search + url.hash
  return /^\/(\/|login|forgot|createAccount)/.test(path) ? undefined : path
}

/** The login page that comes back to `path`. */
export const loginPath = (path: string) => `${pageAt('login')}?return=${encodeURIComponent(path)}`

/** A page on the way to a login, which comes back to what `after` names. */
export const withReturn = (path: string, after: string | null) =>
  after ? `${path}?${new URLSearchParams({ return: after })}` : path

let left: { path: string; to: string } | null = null
/** Whoever ends the session on a page goes `to` another one, and does not come back with the next login, which may be somebody else's. */
export const leaveForGood = (path: string, to: string = pageAt('login')): void => {
  left = { path, to }
}
/** Where a guard of `path` leads to: the login page, which comes back; once where somebody who ended the session there goes. */
export function guardedPath(path: string): string {
  const to = left?.path === path ? left.to : loginPath(path)
  left = null
  return to
}
