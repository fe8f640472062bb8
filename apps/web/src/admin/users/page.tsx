import type { CurrentUser, User } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { IconBan, IconListDetails, IconReceipt, IconUserCheck, IconUserShare } from '@tabler/icons-react'
import { call } from '../../api/client.ts'
import { accounts } from '../../api/routes.ts'
import {
  type DialogProps,
  type T,
  type Tools,
  column,
  date,
  defineResource,
  integer,
  oneOf,
  useOpenForm,
  yesNo,
  yesNoFilter
} from '../kit/index.ts'
import { Address, LastLogin, pathOfUser, StatusBadge, UserCell } from './cells.tsx'
import { setSessionUser } from '../../api/session.ts'
import { type Key, useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { notify } from '../../kit/notify.ts'
import { useState } from 'react'
import { Dialog } from '../../kit/dialog.tsx'
import { UserForm } from './user-form.tsx'
import '../../kit/styles/forms.ts'
import { permissionToChange } from './sessions-tab.tsx'

/** The Edit dialog. A click outside does not close it, to protect what is entered. */
function EditDialog({ task, onClose, onSaved }: DialogProps<User>) {
  const t = useT()
  const [hasSecret, setHasSecret] = useState(false)
  const form = useOpenForm(task, { onClose, keepsDraft: !hasSecret })
  const { content, opened, mark, isUnsaved, leave, isOpen, saved } = form
  return (
    <Dialog
      opened={opened}
      onClose={leave}
      closeOnClickOutside={false}
      title={content && t('form.about', { what: t('list.edit'), name: content.row.username })}
      size="lg"
    >
      {content && (
        <UserForm
          key={content.id}
          user={content.row}
          onDirty={mark}
          onSecret={setHasSecret}
          isUnsaved={isUnsaved}
          onCancel={leave}
          isOpen={isOpen}
          onSaved={undo => {
            onSaved(undo)
            saved()
          }}
        />
      )}
    </Dialog>
  )
}

/** Only customers who are not banned can be viewed. */
function whyNotSwitch(user: User): Key | undefined {
  if (!user.is_active) return 'whyNot.banned'
  return user.is_superuser ? 'whyNot.operator' : undefined
}

/** Views the shop as a user, after a question. The banner on each page leads back. */
async function switchUser(user: User, { t, go }: Tools): Promise<void> {
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

/** What ends and what continues, in figures. */
async function figuresOf({ id, username }: User) {
  const { sessions, api_keys, figures } = await call(accounts.user, { params: { id } })
  const { orders, live_orders: live, unpaid_orders: unpaid, owed } = figures
  return { owed, told: { user: username, sessions, keys: api_keys, orders, live, unpaid } }
}
const banQuestion = async (t: T, user: User) => ({
  title: t('users.banTitle'),
  body: t('users.banBody', (await figuresOf(user)).told),
  danger: true
})
async function deleteQuestion(t: T, user: User) {
  const { owed, told } = await figuresOf(user)
  if (owed)
    return {
      title: t('list.blockedTitle', { name: user.username }),
      body: t(`users.owed.${owed}`, told),
      blocked: true
    }
  return { title: t('list.deleteTitle'), body: t('users.deleteBody', told), danger: true }
}
const whyNotOwn = ({ id }: User, me: CurrentUser | null) => (id === me?.id ? ('whyNot.ownAccount' as const) : undefined)

const Users = defineResource({
  key: 'users',
  list: accounts.users,
  also: [accounts.user, accounts.userSessions, accounts.userApiKeys],
  nameOf: user => user.username,
  pageOf: user => pathOfUser(user.id),
  find: id => call(accounts.user, { params: { id } }),
  dialog: EditDialog,
  edits: accounts.updateUser,
  permissionToChange,
  columns: [
    integer('id', { optional: true }),
    column('user', (user: User) => <UserCell user={user} />, { lead: true }),
    column('status', (user: User) => <StatusBadge user={user} />),
    yesNo('is_superuser'),
    integer('level'),
    integer('level_points', { optional: true }),
    integer('reward_points'),
    integer('invite_count', { optional: true }),
    column('last_login', (user: User) => <LastLogin at={user.last_login_time} />),
    column('last_login_ip', (user: User) => <Address ip={user.last_login_ip} country={user.last_location} />),
    date('created_at')
  ],
  sort: ['id', 'reward_points', 'level_points', 'last_login'],
  filters: [
    oneOf('is_active', ['1', '0'], 'users.is'),
    yesNoFilter('is_superuser'),
    oneOf('level', ['0', '1', '2', '3', '4', '5'], 'users.levels')
  ],
  rowActions: [
    { name: 'details', icon: IconListDetails, run: ({ id }, { go }) => go(pathOfUser(id)) },
    { name: 'switch', icon: IconUserShare, whyNot: whyNotSwitch, run: switchUser, needs: accounts.switchUser },
    {
      name: 'orders',
      icon: IconReceipt,
      run: ({ username }, { go }) => go(pageAt('Orders', { username: username }))
    },
    {
      name: 'ban',
      icon: IconBan,
      danger: true,
      route: accounts.ban,
      whyNot: (user, me) => whyNotOwn(user, me) ?? (user.is_active ? undefined : 'whyNot.banned'),
      confirm: banQuestion
    },
    {
      name: 'unban',
      icon: IconUserCheck,
      route: accounts.unban,
      whyNot: user => (user.is_active ? 'whyNot.notBanned' : undefined),
      // No Undo: a ban ends sessions and keys. Undo would end those created since, or override another operator.
      confirm: (t, user) => ({ title: t('users.unbanTitle'), body: t('users.unbanBody', { user: user.username }) })
    }
  ],
  remove: { route: accounts.deleteUser, whyNot: whyNotOwn, confirm: deleteQuestion },
  csv: true
})

export default Users
