import type { Secrets } from '../../infra/secrets.ts'

/**
 * The first credentials of an order's proxies. They follow from its public id, so that an order which is restored from
 * its payment has those that its customer already uses.
 */
export const credentialsOf = (secrets: Secrets, publicId: string) => ({
  proxyUsername: `u${secrets.codeOf(`proxy user of ${publicId}`, 9)}`,
  proxyPassword: secrets.codeOf(`proxy password of ${publicId}`, 14)
})
