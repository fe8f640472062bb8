import type { Unit } from '../../../infra/command.ts'
import { enqueueMail } from '../../mail/index.ts'
import type { UserRow } from '../present-user.ts'

export type Owner = Pick<UserRow, 'id' | 'username' | 'email' | 'language'>

/** Tells the owner of the account what happened to its second factors. */
export function tellOwner(
  unit: Unit,
  { id, username, email, language }: Owner,
  what: 'added' | 'removed' | 'reset' | 'codes_made' | 'code_used',
  name = '–'
): void {
  const at = unit.now.toISOString()
  enqueueMail(unit, {
    to: email,
    language,
    template: 'second-factor-changed',
    data: { username, at, what, name },
    key: `second-factor-${what}:${id}:${at}`
  })
}

/** Warns the owner that a right password was followed by wrong codes, once a day. */
export function tellOfGuesses(unit: Unit, { id, username, email, language }: Owner): void {
  const at = unit.now.toISOString()
  enqueueMail(unit, {
    to: email,
    language,
    template: 'second-factor-guesses',
    data: { username, at },
    key: `second-factor-guesses:${id}:${at.slice(0, 10)}`
  })
}
