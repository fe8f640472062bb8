/**
 * The origin of the shop, without a trailing slash, or null where the setting holds no address.
 * A bare domain gets https; a whole http(s) URL is taken as it is, so that the same setting can name a stand-in.
 */
export function shopBase(shopUrl: string): string | null {
  const given = shopUrl.trim()
  if (given === '') return null
  const url = URL.parse(/^https?:\/\//i.test(given) ? given : `https://${given}`)
  return url && url.hostname !== '' && url.username === '' ? url.origin : null
}
