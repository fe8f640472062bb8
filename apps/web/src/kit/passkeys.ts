import type { PasskeyAssertion, PasskeyAttestation, PasskeyCreation, PasskeyRequest } from '@netlet/contract'

/** Can this browser use passkeys here? An address of numbers has none. */
export const hasPasskeys = (): boolean =>
  'PublicKeyCredential' in window && !/^(?:[\d.]+|\[.*\])$/.test(window.location.hostname)

/** The browser's part of WebAuthn, loaded with the first use. */
const load = () => import('@simplewebauthn/browser')

/** Asks for a passkey. @throws if the user cancels, or the browser refuses */
export async function usePasskey(request: PasskeyRequest): Promise<PasskeyAssertion> {
  const { startAuthentication } = await load()
  const { id, rawId, response, authenticatorAttachment } = await startAuthentication({ optionsJSON: request })
  return { id, rawId, type: 'public-key', response, authenticatorAttachment: attachmentOf(authenticatorAttachment) }
}

/** Creates a passkey. @throws as above; 'InvalidStateError': the device has one of this account */
export async function createPasskey(options: PasskeyCreation): Promise<PasskeyAttestation> {
  const { startRegistration } = await load()
  const { id, rawId, response, authenticatorAttachment } = await startRegistration({ optionsJSON: options })
  const { clientDataJSON, attestationObject, transports } = response
  return {
    id,
    rawId,
    type: 'public-key',
    response: { clientDataJSON, attestationObject, ...(transports ? { transports } : {}) },
    authenticatorAttachment: attachmentOf(authenticatorAttachment)
  }
}

const attachmentOf = (attachment: string | undefined) =>
  attachment === 'platform' || attachment === 'cross-platform' ? attachment : null
