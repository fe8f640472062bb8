import type { Resource } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Link } from 'react-router'
import { settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'

import { May } from './may.tsx'

export const auditPath = (of: Resource, id: number | string): string =>
  `${pageAt('audit')}?${new URLSearchParams({ target_type: of, target_id: String(id) }).toString()}`

export function AuditLink({ of, id }: { of: Resource; id: number | string }) {
  const t = useT()
  return (
    <May make={settings.audit}>
      <Link to={auditPath(of, id)}>{t('audit.entries')}</Link>
    </May>
  )
}
