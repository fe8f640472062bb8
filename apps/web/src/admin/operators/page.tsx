import type { ListedUser, OperatorRole } from '@netlet/contract'
import { OPERATOR_ROLES, PERMISSIONS, mayOperate, type Permission } from '@netlet/contract/permissions'
import { pageAt } from '@netlet/contract/pages'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { accounts } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { Ago } from '../../kit/time.tsx'
import { DataTable } from '../kit/index.ts'
import classes from './operators.module.css'
import { none } from '../../kit/none.tsx'

/** More administrators than any shop has. */
const MOST = 200
const permissions = Object.keys(PERMISSIONS) as Permission[]

/** The shop's operators with their roles, and what each role may do. */
export default function OperatorsPage() {
  const t = useT()
  const { data, isPending, error, refetch } = useQuery(
    read(accounts.users, { query: { is_superuser: '1', limit: MOST } })
  )
  return (
    <div className="stack">
      <p className="dim">{t('operators.note')}</p>
      <div className="card">
        <DataTable<ListedUser>
          label={t('operators.label')}
          columns={[
            {
              key: 'username',
              title: t('operators.username'),
              lead: true,
              render: user => <Link to={pageAt('user', { id: user.id })}>{user.username}</Link>
            },
            {
              key: 'role',
              title: t('operators.roleTitle'),
              render: ({ operator_role }) => (operator_role ? t(`operators.role.${operator_role}`) : none)
            },
            {
              key: 'factor',
              title: t('operators.factor'),
              render: ({ second_factors }) => t(second_factors > 0 ? 'operators.yes' : 'operators.no')
            },
            {
              key: 'last',
              title: t('operators.last'),
              render: ({ last_login }) => (last_login ? <Ago at={last_login} /> : t('users.never'))
            }
          ]}
          rows={data?.data}
          rowKey={user => user.id}
          pending={isPending}
          error={error}
          onRetry={() => void refetch()}
          empty={{ title: t('operators.none') }}
        />
      </div>
      <Matrix />
    </div>
  )
}

function Matrix() {
  const t = useT()
  const cell = (role: OperatorRole, permission: Permission) => mayOperate(role, permission)
  return (
    <div className="card">
      <h2 id="matrix" className="size-lead" style={{ padding: '1rem 1rem 0' }}>
        {t('operators.matrix')}
      </h2>
      <div className={classes.scroll} role="region" aria-labelledby="matrix" tabIndex={0}>
        <table className={classes.matrix}>
          <thead>
            <tr>
              <th scope="col">{t('operators.permission')}</th>
              {OPERATOR_ROLES.map(role => (
                <th key={role} scope="col" title={t(`operators.help.${role}`)}>
                  {t(`operators.role.${role}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {permissions.map(permission => (
              <tr key={permission}>
                <th scope="row">{t(`operators.may.${permission}`)}</th>
                {OPERATOR_ROLES.map(role => (
                  <td key={role} data-allowed={cell(role, permission)}>
                    {t(cell(role, permission) ? 'operators.yes' : 'operators.no')}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}
