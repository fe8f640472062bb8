import type { ListedUser, UserDetail } from '@netlet/contract'
import { screen } from '@testing-library/react'
import { accounts } from '../../api/routes.ts'
import { queryClient } from '../../api/query.ts'
import { sessionQuery } from '../../api/session.ts'
import { answer } from '../../testing/answers.ts'
import { admin, pageOf, user as alice } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import Users from './page.tsx'
import { detail } from './users.fixture.ts'

/** Renders the list of users; `one` adds the details of a single user. */
export function open({
  at = '/dashboard/index/userList',
  rows = [alice],
  one = {}
}: { at?: string; rows?: ListedUser[]; one?: Partial<UserDetail> } = {}) {
  keepNothing()
  queryClient.setQueryData(sessionQuery.queryKey, admin)
  answer(accounts.users, pageOf(...rows))
  answer(accounts.user, { ...detail, ...one })
  return renderScreen(<Users />, { at })
}
type Person = ReturnType<typeof open>['user']
export const choose = async (user: Person, entry: string) => {
  await user.click(await screen.findByRole('button', { name: 'Actions: alice' }))
  await user.click(await screen.findByRole('menuitem', { name: entry }))
}
