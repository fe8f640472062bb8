/**
 * The origin of the shop, without a trailing slash, or null if the setting is no address. A bare domain gets https. A
 * whole http(s) URL is kept, so that it can name a stand-in.
 */
export function shopBase(shopUrl: string): string | null {
  const given = shopUrl.trim()
  if (given === '') return null
  const url = URL.parse(/^https?:\/\//i.test(given) ? given : `https://${given}`)
  return url && url.hostname !== '' && url.username === '' ? url.origin : null
}
