import type { PasskeyAssertion, PasskeyAttestation, PasskeyCreation, PasskeyRequest } from '@netlet/contract'
import {
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
  type WebAuthnCredential
} from '@simplewebauthn/server'
import { isIP } from 'node:net'
import { isLoopback, type Config } from '../../../infra/config.ts'
import { hashToken, randomToken } from '../../../infra/secrets.ts'

/** EdDSA, ES256, RS256. */
const ALGORITHMS = [-8, -7, -257]
const TIMEOUT_MS = 120_000

/** Where the browser makes and uses passkeys. */
export type PasskeyPage = { origin: string; rpId: string }

/**
 * The shop's page as WebAuthn names it. A shop that only this machine can reach may be opened by each of the machine's
 * own names. Null: browsers allow no passkeys there, because an address of numbers is not a name.
 * @param host the one that the browser addressed
 */
export function passkeyPage({ publicUrl }: Pick<Config, 'publicUrl'>, host: string): PasskeyPage | null {
  const own = isLoopback(publicUrl) && isLoopback(`http://${host}`) ? `http://${host}` : publicUrl
  const page = pageOf(new URL(own).origin)
  return isIP(page.rpId.replace(/^\[|\]$/g, '')) === 0 ? page : null
}

const pageOf = (origin: string): PasskeyPage => ({ origin, rpId: new URL(origin).hostname })

export const newChallenge = (): string => randomToken()

export type StoredPasskey = {
  credentialId: string | null
  publicKey: Buffer | null
  counter: number
  transports: string[] | null
}

const known = (passkeys: readonly StoredPasskey[]) =>
  passkeys.flatMap(({ credentialId, transports }) =>
    credentialId === null
      ? []
      : { id: credentialId, type: 'public-key' as const, ...(transports === null ? {} : { transports }) }
  )

/** The account's handle in its passkeys. A second passkey on one device replaces the first. */
export const handleOf = (userId: number): string => hashToken(`passkey user ${userId}`).toString('base64url')

export const creationOptions = (
  { rpId, shop }: PasskeyPage & { shop: string },
  challenge: string,
  user: { id: number; username: string },
  passkeys: readonly StoredPasskey[]
): PasskeyCreation => ({
  challenge,
  rp: { id: rpId, name: shop },
  user: { id: handleOf(user.id), name: user.username, displayName: user.username },
  pubKeyCredParams: ALGORITHMS.map(alg => ({ type: 'public-key', alg })),
  timeout: TIMEOUT_MS,
  attestation: 'none',
  // A security key without room or PIN still serves as second factor.
  authenticatorSelection: { residentKey: 'preferred', requireResidentKey: false, userVerification: 'preferred' },
  excludeCredentials: known(passkeys)
})

/** @param passkeys the account's; null: any passkey of the shop, which then has to check its owner */
export const requestOptions = (
  { rpId }: PasskeyPage,
  challenge: string,
  passkeys: readonly StoredPasskey[] | null
): PasskeyRequest => ({
  challenge,
  rpId,
  timeout: TIMEOUT_MS,
  userVerification: passkeys === null ? 'required' : 'preferred',
  allowCredentials: known(passkeys ?? [])
})

/** Verifies a new passkey; null if it is not right. */
export async function readAttestation(
  attestation: PasskeyAttestation,
  challenge: string,
  origin: string
): Promise<WebAuthnCredential | null> {
  try {
    const { registrationInfo } = await verifyRegistrationResponse({
      response: { ...attestation, clientExtensionResults: {} } as RegistrationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: pageOf(origin).rpId,
      requireUserVerification: false,
      supportedAlgorithmIDs: ALGORITHMS
    })
    return registrationInfo?.credential ?? null
  } catch {
    // The library throws for whatever a browser, or an attacker, sends wrong.
    return null
  }
}

/**
 * Verifies a passkey's answer. A counter that did not rise is refused: the passkey was copied.
 * @returns its counter; null if the answer is not right
 */
export async function readAssertion(
  assertion: PasskeyAssertion,
  challenge: string,
  origin: string,
  { credentialId, publicKey, counter }: StoredPasskey,
  { checksOwner }: { checksOwner: boolean }
): Promise<number | null> {
  if (credentialId === null || publicKey === null) return null
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...assertion, clientExtensionResults: {} } as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: pageOf(origin).rpId,
      credential: { id: credentialId, publicKey: new Uint8Array(publicKey), counter },
      requireUserVerification: checksOwner
    })
    return verified ? authenticationInfo.newCounter : null
  } catch {
    return null
  }
}
