import type { AuditEntry, UserDetail } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Link } from 'react-router'
import { settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { Ago } from '../../kit/time.tsx'
import { actionText } from '../audit/labels.ts'
import { Changes } from '../audit/cells.tsx'
import { Paged } from './paged.tsx'
import { none } from '../../kit/none.tsx'

export function AuditTab({ user }: { user: UserDetail }) {
  const t = useT()
  return (
    <Paged<AuditEntry>
      name="audit"
      route={settings.audit}
      query={{ target_type: 'user', target_id: String(user.id) }}
      columns={[
        { key: 'at', title: t('users.time'), render: entry => <Ago at={entry.at} /> },
        { key: 'actor', title: t('users.actor'), render: entry => entry.actor },
        {
          key: 'action',
          title: t('users.action'),
          lead: true,
          render: entry => (
            <Link to={`${pageAt('audit')}?open=${entry.id}`} title={entry.action}>
              {actionText(t, entry.action)}
            </Link>
          )
        },
        { key: 'changes', title: t('users.changes'), wide: true, render: entry => <Changes entry={entry} /> },
        {
          key: 'ip',
          title: t('users.address'),
          render: entry => (entry.ip ? <span className="mono">{entry.ip}</span> : none)
        }
      ]}
    />
  )
}
