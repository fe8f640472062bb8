import type { User } from '@netlet/contract'
import { call } from '../../api/client.ts'
import { accounts } from '../../api/routes.ts'
import { setSessionUser } from '../../api/session.ts'
import type { Key } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { notify } from '../../kit/notify.ts'
import type { Tools } from '../kit/index.ts'

/** Only customers who are not banned can be viewed. */
export function whyNotSwitch(user: User): Key | undefined {
  if (!user.is_active) return 'whyNot.banned'
  return user.is_superuser ? 'whyNot.operator' : undefined
}

/** Views the shop as a user, after a question. The banner on each page leads back. */
export async function switchUser(user: User, { t, go }: Tools): Promise<void> {
  const yes = await confirm({
    title: t('users.switchTitle'),
    body: t('users.switchBody', { user: user.username })
  })
  if (!yes) return notify('info', t('users.cancelled'))
  try {
    const viewed = await call(accounts.switchUser, { body: { user_id: user.id } })
    // Leave the console first, or its lists would be requested as the customer.
    await go('/')
    setSessionUser(viewed)
    notify('good', t('users.switched'))
  } catch (error) {
    notify('bad', failureText(error, t('users.switchFailed')))
  }
}
