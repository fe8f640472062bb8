import { expect, test } from 'vitest'
import { SettingsForm } from './settings.ts'

const errorOf = (field: string, value: string) =>
  SettingsForm.safeParse({ [field]: value }).error?.issues.map(({ path, message }) => [path.join('.'), message])

test.each([
  '',
  'https://chat.example/netlet?a=b#c',
  'http://localhost:3000/x',
  'HTTPS://[2001:db8::1]/',
  ' https://a.example '
])('a link may be %j', value => expect(errorOf('support_discord', value)).toBeUndefined())

test.each([
  'chat.example',
  'javascript:alert(1)',
  'https://',
  'https:///path',
  'https://?query',
  'https://#there',
  'https://chat example/',
  'https://chat.example/a b',
  'https:// chat.example',
  'https:\\\\chat.example',
  'https://\\chat.example',
  'https://:8080/'
])('a link is refused at its field where it has a space or no host: %j', value => {
  for (const field of ['support_twitter', 'support_discord', 'discord_redirect_uri', 'discord_bind_redirect_uri'])
    expect(errorOf(field, value)).toEqual([[field, 'Must be a web address, such as https://example.com']])
})

test.each(['', 'my-shop.myshopify.com', 'https://shop.example', 'http://127.0.0.1:4000/', 'shop.example:8443'])(
  "the shop's address may be %j",
  value => expect(errorOf('shopify_shop_url', value)).toBeUndefined()
)

test.each(['http://', 'my shop.myshopify.com', 'https:///shop', 'https://me:secret@shop.example', 'shop.example/a b'])(
  "the shop's address is refused at its field: %j",
  value =>
    expect(errorOf('shopify_shop_url', value)).toEqual([
      ['shopify_shop_url', 'Must be a domain, such as my-shop.myshopify.com, or a web address']
    ])
)
