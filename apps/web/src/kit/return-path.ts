import { pageAt } from '@netlet/contract/pages'

/** A path of this site, or undefined. Anyone can write an address, so check it. */
export function safePath(value: string | null | undefined): string | undefined {
  if (!value || !/^\/(?![/\\])/.test(value)) return undefined
  const base = 'http://site.invalid'
  const url = URL.canParse(value, base) ? new URL(value, base) : undefined
  if (url?.origin !== base) return undefined
  const path = url.pathname + url.search + url.hash
  return /^\/(\/|login|forgot|createAccount)/.test(path) ? undefined : path
}

/** The login page with a return to `path`. */
export const loginPath = (path: string) => `${pageAt('login')}?return=${encodeURIComponent(path)}`

/** A page before the login, with a return to `after`. */
export const withReturn = (path: string, after: string | null) =>
  after ? `${path}?${new URLSearchParams({ return: after })}` : path

let left: { path: string; to: string } | null = null
/** After a logout on `path`, go to `to` without a return path: the next login may be another user. */
export const leaveForGood = (path: string, to: string = pageAt('login')): void => {
  left = { path, to }
}
/** Where the guard of `path` redirects: to login with a return path, or once to the target of a logout on that page. */
export function guardedPath(path: string): string {
  const to = left?.path === path ? left.to : loginPath(path)
  left = null
  return to
}
