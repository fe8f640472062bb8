/** A path of this site, or undefined: what is in an address is anyone's to write. */
export function safePath(value: string | null | undefined): string | undefined {
  if (!value || !/^\/(?![/\\])/.test(value)) return undefined
  const base = 'http://site.invalid'
  const url = URL.canParse(value, base) ? new URL(value, base) : undefined
  if (url?.origin !== base) return undefined
  const path = url.pathname + url.search + url.hash
  return path.startsWith('//') || path.startsWith('/login') ? undefined : path
}

/** The login page that comes back to `path`. */
export const loginPath = (path: string) => `/login?return=${encodeURIComponent(path)}`
