import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import type { PasskeyAssertion, PasskeyAttestation, PasskeyCreation, PasskeyRequest } from '@netlet/contract'

const base64url = (data: Uint8Array | string): string => Buffer.from(data).toString('base64url')
const sha256 = (data: Uint8Array | string): Buffer => createHash('sha256').update(data).digest()

/** The head of a CBOR item: its major type and its length or value. */
function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value])
  if (value < 256) return Buffer.from([(major << 5) | 24, value])
  return Buffer.from([(major << 5) | 25, value >> 8, value & 0xff])
}
const text = (value: string): Buffer => Buffer.concat([head(3, value.length), Buffer.from(value)])
const bytes = (value: Uint8Array): Buffer => Buffer.concat([head(2, value.length), value])
const int = (value: number): Buffer => (value < 0 ? head(1, -1 - value) : head(0, value))

type Flags = { checksOwner?: boolean; origin?: string; rpId?: string; challenge?: string }

/** A device with one passkey of a test: WebAuthn's authenticator and the browser around it. */
export type TestPasskey = {
  id: string
  /** How often it was used, by its own count; null: it does not count. */
  counter: number | null
  create(options: PasskeyCreation, wrong?: Flags): PasskeyAttestation
  answer(request: PasskeyRequest, wrong?: Flags): PasskeyAssertion
}

export function testPasskey(origin: string): TestPasskey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const credentialId = randomBytes(32)
  let handle = ''
  const clientData = (type: string, challenge: string, flags: Flags) =>
    Buffer.from(
      JSON.stringify({
        type,
        challenge: flags.challenge ?? challenge,
        origin: flags.origin ?? origin,
        crossOrigin: false
      })
    )
  const device: TestPasskey = {
    id: base64url(credentialId),
    counter: 0,
    create(options, wrong = {}) {
      handle = options.user.id
      const data = clientData('webauthn.create', options.challenge, wrong)
      const authData = Buffer.concat([
        authenticatorData(wrong.rpId ?? options.rp.id, 0x41 | (wrong.checksOwner === false ? 0 : 4), device.counter),
        Buffer.alloc(16),
        Buffer.from([0, credentialId.length]),
        credentialId,
        coseKey(publicKey)
      ])
      const attestation = Buffer.concat([
        head(5, 3),
        text('fmt'),
        text('none'),
        text('attStmt'),
        head(5, 0),
        text('authData'),
        bytes(authData)
      ])
      return {
        id: device.id,
        rawId: device.id,
        type: 'public-key',
        authenticatorAttachment: 'platform',
        response: {
          clientDataJSON: base64url(data),
          attestationObject: base64url(attestation),
          transports: ['internal']
        }
      }
    },
    answer(request, wrong = {}) {
      if (device.counter !== null) device.counter += 1
      const data = clientData('webauthn.get', request.challenge, wrong)
      const authData = authenticatorData(
        wrong.rpId ?? request.rpId,
        0x01 | (wrong.checksOwner === false ? 0 : 4),
        device.counter
      )
      const signature = sign('sha256', Buffer.concat([authData, sha256(data)]), privateKey)
      return {
        id: device.id,
        rawId: device.id,
        type: 'public-key',
        authenticatorAttachment: 'platform',
        response: {
          clientDataJSON: base64url(data),
          authenticatorData: base64url(authData),
          signature: base64url(signature),
          userHandle: handle
        }
      }
    }
  }
  return device
}

function authenticatorData(rpId: string, flags: number, counter: number | null): Buffer {
  const count = Buffer.alloc(4)
  count.writeUInt32BE(counter ?? 0)
  return Buffer.concat([sha256(rpId), Buffer.from([flags]), count])
}

/** ES256. */
function coseKey(publicKey: KeyObject): Buffer {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const coordinate = (value: string) => bytes(Buffer.from(value, 'base64url'))
  return Buffer.concat([
    head(5, 5),
    int(1),
    int(2),
    int(3),
    int(-7),
    int(-1),
    int(1),
    int(-2),
    coordinate(x),
    int(-3),
    coordinate(y)
  ])
}
