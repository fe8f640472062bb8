import { pageAt } from '@netlet/contract/pages'
import { Link } from 'react-router'
import { useSession } from '../../api/session.ts'
import { useT } from '../../i18n/account.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { ownEndpoints } from '../../kit/webhooks/calls.ts'
import { numberIn, useAddress } from '../../kit/use-address.ts'
import { Endpoints, useEndpoints } from '../../kit/webhooks/endpoints.tsx'
import { DeliveryLog, NO_LOG } from '../../kit/webhooks/log.tsx'

/** The customer's webhook endpoints. The address names the endpoint whose log is open. */
export function Webhooks() {
  const t = useT()
  const { user } = useSession()
  const { query, change } = useAddress()
  const { data } = useEndpoints(ownEndpoints)
  const shown = numberIn(query, 'endpoint')
  const log = data?.find(({ id }) => id === shown)
  const showLog = (id: number | null) => change({ ...NO_LOG, endpoint: id }, { push: true })
  // Endpoints outlast an administrator's visit as the customer, so such a visit cannot change them.
  const canChange = !user?.impersonated_by
  return (
    <>
      <p className="dim">
        {t('hooks.hint')} <Link to={`${pageAt('apiReference')}#webhooks`}>{t('keys.docs')}</Link>
      </p>
      <Endpoints calls={ownEndpoints} canChange={canChange} onLog={({ id }) => showLog(id)} />
      {log && (
        <Dialog size="xl" onClose={() => showLog(null)} title={t('hooks.logOf', { url: log.description || log.url })}>
          <DeliveryLog endpointId={log.id} canResend={canChange} />
        </Dialog>
      )}
    </>
  )
}
