import type { PointRecord } from '@netlet/contract'
import en from '../i18n/account.en.json'
import { useT, type Key } from '../i18n/account.ts'

/** Why points or coins changed. Causes without a translation show the server's English. */
export function usePointReason(): (record: PointRecord) => string {
  const t = useT()
  return ({ reason, reason_code, params }) => {
    const key = `points.of.${reason_code}`
    return key in en ? t(key as Key, params) : reason
  }
}
