import { expect, test } from 'vitest'
import { PASSWORD_RULE } from './account-fields.ts'
import {
  AdminPasswordBody,
  ChangePasswordBody,
  EmailValidateBody,
  ForgotBody,
  ForgotVerifyBody,
  LoginBody,
  SignUpBody,
  UserForm
} from './accounts.ts'

type Schema = {
  safeParse(value: unknown): { success: boolean; error?: { issues: { path: PropertyKey[]; message: string }[] } }
}

/** The first message of each field. */
function messages(schema: Schema, value: unknown): Record<string, string> {
  const found: Record<string, string> = {}
  for (const issue of schema.safeParse(value).error?.issues ?? []) found[issue.path.join('.')] ??= issue.message
  return found
}

const uuid = '00000000-0000-4000-8000-000000000000'
const signUp = {
  username: 'Anna1',
  email: 'anna@example.com',
  email_code: '123456',
  email_code_id: uuid,
  password: 'Abcdef#1',
  repassword: 'Abcdef#1'
}

test('every field that is missing says what the specification has it say', () => {
  expect(messages(SignUpBody, {})).toMatchObject({
    username: 'Please input username',
    email: 'Please input email',
    email_code: 'Please input code',
    password: 'Enter a password',
    repassword: 'Please input re-password'
  })
  expect(messages(LoginBody, {})).toEqual({
    username: 'Please enter your username or email!',
    password: 'Please enter your password!'
  })
  expect(messages(LoginBody, { username: 'a', password: 'b', captcha: 'x' })).toEqual({
    captcha: 'Please enter the captcha code!'
  })
  expect(LoginBody.parse({ username: 'a', password: 'b', captcha_id: '', captcha: '' })).toEqual({
    username: 'a',
    password: 'b'
  })
  expect(messages(EmailValidateBody, { type: 'register' })).toEqual({ email: 'Please enter your email address!' })
  expect(messages(ForgotVerifyBody, { email: 'anna@example.com' })).toEqual({
    email_code: 'Please enter your email or code!',
    email_code_id: 'Please enter your email or code!'
  })
  expect(messages(ForgotBody, { email: 'anna@example.com', verify_id: uuid })).toEqual({
    password: 'Please enter your password!'
  })
  expect(messages(ChangePasswordBody, {})).toEqual({
    old_password: 'Please Enter Old Password',
    new_password: 'Please Enter New Password'
  })
  expect(messages(AdminPasswordBody, {})).toEqual({ password: 'Please enter password' })
})

test.each([
  ['username', '', 'Please input username'],
  ['username', 'abc', 'Length should be 4 to 10'],
  ['username', 'abcdefghijk', 'Length should be 4 to 10'],
  ['username', 'ab cd', 'Can only contain letters and numbers'],
  ['username', 'käse1', 'Can only contain letters and numbers'],
  ['username', '1234', 'Must contain at least one letter'],
  ['email', 'anna', 'Please input correct email format'],
  ['email', `${'a'.repeat(250)}@example.com`, 'Please input correct email format'],
  ['email_code', '12345', 'Please input code'],
  ['repassword', 'Abcdef#2', 'Password not consistent']
])('sign-up: %s %j', (field, value, message) => {
  expect(messages(SignUpBody, { ...signUp, [field]: value })[field]).toBe(message)
})

test.each(['Abcd', 'abcdefghi1', '1a11'])('%j is a username', username => {
  expect(messages(SignUpBody, { ...signUp, username })).toEqual({})
})

test.each(['Abcde#1', 'abcdef#1', 'ABCDEF#1', 'Abcdefg#', 'Abcdefg1', 'Abc def#1', `Abcdef#1${'x'.repeat(13)}`])(
  '%j is no password',
  password => {
    expect(messages(SignUpBody, { ...signUp, password, repassword: password })).toEqual({ password: PASSWORD_RULE })
  }
)

test.each(['Abcdef#1', `Abcdef#1${'x'.repeat(12)}`, 'ÄÖÜaB1_xyz'])('%j is a password', password => {
  expect(messages(SignUpBody, { ...signUp, password, repassword: password })).toEqual({})
})

test('coins are a whole number from 0 to 100000000', () => {
  for (const reward_points of [0, 100_000_000]) expect(messages(UserForm, { reward_points })).toEqual({})
  for (const reward_points of [-1, 100_000_001, 1.5, null, '5x'])
    expect(messages(UserForm, { reward_points })).toEqual({ reward_points: 'Please enter points' })
  for (const reward_points_change of [50, -50, 0]) expect(messages(UserForm, { reward_points_change })).toEqual({})
  for (const level_points_change of [1.5, null, '5', 100_000_001])
    expect(messages(UserForm, { level_points_change })).toEqual({
      level_points_change: 'Please enter a whole number, such as 50 or -50'
    })
})

test('two passwords that differ are told with what else is wrong, and not before the second one is typed', () => {
  const form = { ...signUp, username: '', repassword: 'Other#123' }
  expect(messages(SignUpBody, form)).toEqual({
    username: 'Please input username',
    repassword: 'Password not consistent'
  })
  expect(messages(SignUpBody, { ...form, password: 'weak' })).toMatchObject({
    password: PASSWORD_RULE,
    repassword: 'Password not consistent'
  })
  expect(messages(SignUpBody, { ...form, password: '' })).toMatchObject({
    password: 'Enter a password',
    repassword: 'Password not consistent'
  })
  expect(messages(SignUpBody, { ...form, repassword: '' })).toMatchObject({ repassword: 'Please input re-password' })
  expect(messages(SignUpBody, { ...signUp, repassword: 7 })).toEqual({ repassword: 'Please input re-password' })
  for (const nothing of [undefined, null, 'text', 7, []]) expect(SignUpBody.safeParse(nothing).success).toBe(false)
})
