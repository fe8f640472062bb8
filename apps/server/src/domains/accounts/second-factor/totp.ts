import { generateSecret, generateURI, verifySync } from 'otplib'
import { SHOP_NAME } from '../../../infra/shop-name.ts'

/** Seconds of a code. The one before and the one after are accepted, for clocks that differ. */
const PERIOD = 30

/** The secret for a new authenticator app: 160 bits, base32. */
export const newTotpSecret = (): string => generateSecret()

/** What the QR code holds. */
export const totpUri = (secret: string, username: string): string =>
  generateURI({ issuer: SHOP_NAME, label: username, secret })

/** The time step of a right code; null if it is wrong. @param code six digits */
export function totpStep(secret: string, code: string, now: Date): number | null {
  const epoch = Math.floor(now.getTime() / 1000)
  const found = verifySync({ secret, token: code, epoch, period: PERIOD, epochTolerance: PERIOD })
  return found.valid && 'timeStep' in found ? found.timeStep : null
}
