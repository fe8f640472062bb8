import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { status } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { figures } from '../kit/index.ts'

export function Subscribers() {
  const t = useT()
  const { data } = useQuery(read(status.subscribers))
  return data ? <p className="dim">{t('incidents.subscribers', figures({ count: data.confirmed }))}</p> : null
}
