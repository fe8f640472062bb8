import * as contract from '@netlet/contract'

/*
 * Every row of the specification's section 5, by its name there and with its messages. Rows of which the browser alone
 * can know (a selection, a search box) are the web app's; here stands what the server says where it is called without.
 */

export type Schema = {
  safeParse(value: unknown): { success: boolean; error?: { issues: { path: PropertyKey[]; message: string }[] } }
}

const bodyOf = (route: { body?: contract.Route['body'] }): Schema => {
  if (!route.body) throw new Error('the call has no body')
  return route.body
}
const { accounts, catalog, fleet, inventory, orders, rewards, support } = contract.routes
const uuid = '3f2b8a52-6f0e-4d5a-9c31-6b1f0c9a7e21'
const nobody = {
  username: 'Anna1',
  email: 'anna@example.com',
  email_code: '123456',
  email_code_id: uuid,
  password: 'Abcdef#1',
  repassword: 'Abcdef#1'
}
const PASSWORD_RULE =
  'Password must contain at least one lowercase letter, one uppercase letter, one number, one special character and length should be 8 to 20'

type Row = { area: string; schema: Schema; required: Record<string, string> }

/** Forms whose fields are required: missing, null and blank all say the same. */
export const REQUIRED: Row[] = [
  {
    area: 'Q&A',
    schema: bodyOf(support.createFaq),
    required: { question: 'Please enter question', answer: 'Please enter answer' }
  },
  {
    area: 'Coupon',
    schema: bodyOf(rewards.createCoupon),
    required: {
      username: 'Please enter username',
      code: 'Please enter code',
      discount: 'Please enter discount',
      code_type: 'Please select type'
    }
  },
  {
    area: 'Server group',
    schema: bodyOf(fleet.createGroup),
    required: {
      name: 'Please enter server group',
      description: 'Please enter description',
      servers: 'Please select server'
    }
  },
  { area: 'Product tag', schema: bodyOf(catalog.updateTag), required: { tag_name: 'Please enter the tag name' } },
  {
    area: 'Product type',
    schema: bodyOf(catalog.updateCollection),
    required: { collection_name: 'Please enter the collection name' }
  },
  {
    area: 'Ticket',
    schema: bodyOf(support.createTicket),
    required: {
      username: 'Please fill out the form first!',
      email: 'Please fill out the form first!',
      phone: 'Please fill out the form first!',
      message: 'Please fill out the form first!',
      captcha: 'Please input the calculation results in the picture first!',
      captcha_id: 'Please input the calculation results in the picture first!'
    }
  },
  { area: 'Extend expiry', schema: bodyOf(orders.extend), required: { expired_at: 'Please select the expire time' } },
  {
    area: 'Sign-up',
    schema: bodyOf(accounts.signUp),
    required: {
      username: 'Please input username',
      email: 'Please input email',
      email_code: 'Please input code',
      password: 'Enter a password',
      repassword: 'Please input re-password'
    }
  },
  {
    area: 'Send code',
    schema: bodyOf(accounts.emailValidate),
    required: { email: 'Please enter your email address!' }
  },
  {
    area: 'Password change (settings)',
    schema: bodyOf(accounts.changePassword),
    required: { old_password: 'Please Enter Old Password', new_password: 'Please Enter New Password' }
  },
  {
    area: 'Gift card',
    schema: bodyOf(rewards.createGiftCard),
    required: { mount: 'Please enter mount', code: 'Please enter code', point: 'Please enter point' }
  },
  {
    area: 'Reset password (admin)',
    schema: bodyOf(accounts.adminPassword),
    required: { password: 'Please enter password' }
  },
  {
    area: 'Server form',
    schema: bodyOf(fleet.createServer),
    required: { name: 'Please enter name', ip: 'Please enter ip', cidr: 'Please enter cidr' }
  },
  {
    area: 'ACL group',
    schema: bodyOf(inventory.createGroup),
    required: { name: 'Please enter group name', description: 'Please enter description', acls: 'Please select acl' }
  },
  {
    area: 'ACL rule',
    schema: bodyOf(inventory.createRule),
    required: {
      name: 'Please enter name',
      price: 'Please enter price',
      shopify_variant_id: 'Please enter Shopify Variant Id',
      acl_value: 'Please enter rule',
      description: 'Please enter description'
    }
  },
  {
    area: 'Level code',
    schema: bodyOf(rewards.updateLevelCode),
    required: { discount: 'Please enter discount', code: 'Please enter code', point: 'Please enter point' }
  },
  {
    area: 'Server manage create',
    schema: bodyOf(fleet.createUserByPrefix),
    required: {
      username: 'please enter a username',
      prefix: 'please enter a prefix',
      acl_group: 'please select a acl_group'
    }
  },
  { area: 'Server delete user', schema: bodyOf(fleet.deleteUser), required: { username: 'please enter a username' } },
  {
    area: 'Raw API request',
    schema: bodyOf(fleet.requestApi),
    required: { uri: 'please enter a correct uri', json_input: 'please enter a correct json_input' }
  },
  {
    area: 'Login',
    schema: bodyOf(accounts.login),
    required: { username: 'Please enter your username or email!', password: 'Please enter your password!' }
  },
  {
    area: 'Forgot',
    schema: bodyOf(accounts.forgotVerify),
    required: { email: 'Please enter your email address!', email_code: 'Please enter your email or code!' }
  },
  { area: 'Reset', schema: bodyOf(accounts.forgot), required: { password: 'Please enter your password!' } }
]

export type Case = [
  area: string,
  schema: Schema,
  form: Record<string, unknown>,
  field: string,
  message: string | undefined
]
const signUp = (area: string, field: string, value: string, message: string | undefined): Case => [
  area,
  bodyOf(accounts.signUp),
  { ...nobody, ...(field === 'password' ? { repassword: value } : {}), [field]: value },
  field,
  message
]
const one =
  (area: string, route: { body?: contract.Route['body'] }, field: string, message?: string) =>
  (value: unknown): Case => [area, bodyOf(route), { [field]: value }, field, message]

const quantity = 'The quantity must be a positive multiple of the step'
const captcha = 'Please input the calculation results in the picture first!'
const uri = 'please enter a correct uri'

/** Rules beyond 'required'. No message: it is taken. */
export const CASES: Case[] = [
  signUp('Sign-up username', 'username', 'abc', 'Length should be 4 to 10'),
  signUp('Sign-up username', 'username', 'abcd', undefined),
  signUp('Sign-up username', 'username', 'abcdefghi1', undefined),
  signUp('Sign-up username', 'username', 'abcdefghij1', 'Length should be 4 to 10'),
  signUp('Sign-up username', 'username', 'ab_cd', 'Can only contain letters and numbers'),
  signUp('Sign-up username', 'username', 'käse1', 'Can only contain letters and numbers'),
  signUp('Sign-up email', 'email', 'anna', 'Please input correct email format'),
  signUp('Sign-up email', 'email', 'anna@example', 'Please input correct email format'),
  signUp('Sign-up email', 'email', 'anna@example.com', undefined),
  signUp('Sign-up code', 'email_code', '12345', 'Please input code'),
  signUp('Sign-up password', 'password', 'Abcde#1', PASSWORD_RULE),
  signUp('Sign-up password', 'password', 'abcdef#1', PASSWORD_RULE),
  signUp('Sign-up password', 'password', 'ABCDEF#1', PASSWORD_RULE),
  signUp('Sign-up password', 'password', 'Abcdefg#', PASSWORD_RULE),
  signUp('Sign-up password', 'password', 'Abcdefg1', PASSWORD_RULE),
  signUp('Sign-up password', 'password', `Abcdef#1${'x'.repeat(13)}`, PASSWORD_RULE),
  signUp('Sign-up password', 'password', `Abcdef#1${'x'.repeat(12)}`, undefined),
  signUp('Confirm password', 'repassword', 'Abcdef#2', 'Password not consistent'),
  signUp('Sign-up submit', 'invite_code', '', undefined),
  signUp('Sign-up submit', 'discord_id', '', undefined),
  ...['Abcde#1', 'abcdef#1', 'Abcdefgh'].flatMap(value => [
    one('Password change (settings)', accounts.changePassword, 'new_password', PASSWORD_RULE)(value),
    one('Reset password (admin)', accounts.adminPassword, 'password', PASSWORD_RULE)(value),
    one('Reset', accounts.forgot, 'password', PASSWORD_RULE)(value)
  ]),
  ...['12a', {}, true].map(one('Ticket', support.createTicket, 'captcha', captcha)),
  ...[42, '42', ' 42 '].map(one('Ticket', support.createTicket, 'captcha')),
  ...[1.5, 'x', null, {}].map(one('Quantity', orders.checkout, 'quantity', quantity)),
  ...[8, '8'].map(one('Quantity', orders.checkout, 'quantity')),
  ...['soon', '2030-01-01', -1].map(one('Extend expiry', orders.extend, 'expired_at', 'Please select the expire time')),
  ...[1_893_456_000, 1_893_456_000_000, '1893456000'].map(one('Extend expiry', orders.extend, 'expired_at')),
  ...[0, 3, '3', 'gift'].map(one('Coupon', rewards.createCoupon, 'code_type', 'Please select type')),
  ...[1, 2, '1', '2'].map(one('Coupon', rewards.createCoupon, 'code_type')),
  ...['1.234', '-1', 'ten', 1e21].map(one('Coupon', rewards.createCoupon, 'discount', 'Please enter discount')),
  ...[[]].map(one('Server group', fleet.createGroup, 'servers', 'Please select server')),
  ...[[]].map(one('ACL group', inventory.createGroup, 'acls', 'Please select acl')),
  ...['0', '-5', '1.234'].map(one('Gift card', rewards.createGiftCard, 'mount', 'Please enter mount')),
  ...[-1, 1.5, 'x'].map(one('Gift card', rewards.createGiftCard, 'point', 'Please enter point')),
  ...[-1, 1.5].map(one('Level code', rewards.updateLevelCode, 'point', 'Please enter point')),
  ...['x', '-1', '0.001'].map(one('ACL rule', inventory.createRule, 'price', 'Please enter price')),
  ...['abc', '1.5'].map(one('ACL rule', inventory.createRule, 'shopify_variant_id', 'Please enter Shopify Variant Id')),
  ...[-1, 100_000_001, 1.5, null, '5'].map(
    one('User edit coins', accounts.updateUser, 'reward_points', 'Please enter points')
  ),
  ...[0, 100_000_000].map(one('User edit coins', accounts.updateUser, 'reward_points')),
  ...['/other', 'api/x', '/apix', '/api', '/api/../x', 'https://x/api', '/api/x?y=1'].map(
    one('Raw API request', fleet.requestApi, 'uri', uri)
  ),
  ...['/api/view-all-users', '/api/export/user.acl'].map(one('Raw API request', fleet.requestApi, 'uri')),
  ...[5, true].map(one('Raw API request', fleet.requestApi, 'json_input', 'please enter a correct json_input')),
  ...['{}', { user: 'x' }].map(one('Raw API request', fleet.requestApi, 'json_input')),
  ...['x', {}].map(one('Login', accounts.login, 'captcha', 'Please enter the captcha code!')),
  ...['anna', '@example.com'].map(one('Forgot', accounts.forgotVerify, 'email', 'Please input correct email format')),
  ...['anna', 'a@b'].map(one('Send code', accounts.emailValidate, 'email', 'Please input correct email format')),
  ...[undefined, null].map(one('Server form', fleet.createServer, 'description')),
  ...['localhost', '300.1.1.1', '1.2.3'].map(one('Server form', fleet.createServer, 'ip', 'Must be an IP address')),
  ...['192.0.2.1', '2001:db8::1'].map(one('Server form', fleet.createServer, 'ip')),
  ...['a b', 'tökén', 'a\r\nb'].map(
    one('Server form', fleet.createServer, 'agent_token', 'Contains a character that is not allowed')
  )
]
