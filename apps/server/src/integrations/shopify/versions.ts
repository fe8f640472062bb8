/**
 * A version of the platform's API, as headers name it; null where they name none. A version that the platform has given up is
 * answered in the oldest one that it still has: replies and webhooks say which.
 */
export const versionOf = (header: unknown): string | null =>
  typeof header === 'string' && /^(\d{4}-\d{2}|unstable)$/.test(header) ? header : null
