import { expect, test } from 'vitest'
import { strengthOf, weaknessOf } from './password-strength.ts'

const anna = { username: 'anna12', email: 'Bluebird+shop@example.com' }

test('common passwords are refused, also with digits and symbols in their letters and around them', () => {
  const common =
    'Netlet#2026 P@ssw0rd1 Password@123 Admin@123 Welcome@2024 Qwerty123! Aa12345678! 1qaz@WSX Iloveyou1! Summer2024! Dragon1!'
  for (const password of common.split(' '))
    expect([password, weaknessOf(password, anna)]).toEqual([password, 'password_is_common'])
})

test('random passwords and several words pass', () => {
  for (const password of ['Xk9$mQ2v', 'tR7&wZ!p', 'correct-Horse9', 'Blue7Whale-Tango'])
    expect([password, weaknessOf(password, anna)]).toEqual([password, null])
})

test('a password has neither the username nor the name of the address', () => {
  for (const password of ['x9!Anna12-Kq7w', 'Xq!BLUEBIRD77z'])
    expect(weaknessOf(password, anna)).toBe('password_has_name')
  // Of a short name it might be chance.
  expect(weaknessOf('Kq7!w-Bo9xTz', { username: undefined, email: 'bo9@example.com' })).toBeNull()
})

test('the strength says what is refused', () => {
  expect(strengthOf('Password@123', anna)).toBe('weak')
  expect(strengthOf('x9!Anna12-Kq7w', anna)).toBe('weak')
  expect(strengthOf('Xk9$mQ2v', anna)).toBe('fair')
  expect(strengthOf('Blue7Whale-Tango', anna)).toBe('strong')
})
