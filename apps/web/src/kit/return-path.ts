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
export const loginPath = (path: string) => `/login?return=${encodeURIComponent(path)}`

/** A page on the way to a login, which comes back to what `after` names. */
export const withReturn = (path: string, after: string | null) =>
  after ? `${path}?${new URLSearchParams({ return: after })}` : path

let left: string | null = null
/** Whoever logs out on a page does not come back to it with the next login, which may be somebody else's. */
export const leaveForGood = (path: string): void => {
  left = path
}
/** The login page that a guard of `path` leads to; once without the way back where somebody logged out there. */
export function guardedLoginPath(path: string): string {
  const wasLeft = left === path
  left = null
  return wasLeft ? '/login' : loginPath(path)
}
