import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { mailJobs } from '../mail/index.ts'
import { accountRoutes } from './index.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({ routes: accountRoutes, workers: mailJobs })
})
afterAll(() => shop.close())

test('signs up with a mailed code', async () => {
  const visitor = shop.visitor()
  const asked = await visitor.post<{ email_code_id: string }>('/api/users/email_validate', {
    email: 'New@Example.com',
    type: 'register'
  })
  expect(asked).toMatchObject({ status: 200, code: 2000 })
  const [mail] = await shop.outbox.waitFor('New@Example.com')
  const code = /\b(\d{6})\b/.exec(mail?.text ?? '')?.[1]
  const reply = await visitor.post('/api/users/u/', {
    username: 'Newbie',
    email: 'new@example.com',
    email_code: code,
    email_code_id: asked.data.email_code_id,
    password: 'Abcdef#1',
    repassword: 'Abcdef#1'
  })
  expect(reply).toMatchObject({ code: 2000, data: { username: 'Newbie' } })
  expect(await visitor.get('/api/auth/login')).toMatchObject({
    code: 2000,
    data: { username: 'Newbie', impersonated_by: null }
  })
  expect(await visitor.get('/api/auth/captcha')).toMatchObject({ code: 2000 })
})
