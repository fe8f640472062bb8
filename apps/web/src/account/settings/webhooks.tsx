import type { WebhookEndpoint } from '@netlet/contract'
import { useState } from 'react'
import { Link } from 'react-router'
import { useSession } from '../../api/session.ts'
import { useT } from '../../i18n/account.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { ownEndpoints } from '../../kit/webhooks/calls.ts'
import { Endpoints } from '../../kit/webhooks/endpoints.tsx'
import { DeliveryLog } from '../../kit/webhooks/log.tsx'

/** Where the customer's own server is told of what happens to the orders. */
export function Webhooks() {
  const t = useT()
  const { user } = useSession()
  const [log, setLog] = useState<WebhookEndpoint | null>(null)
  // Where events go outlasts the visit of an administrator.
  const canChange = !user?.impersonated_by
  return (
    <>
      <p className="dim">
        {t('hooks.hint')} <Link to="/api-reference#webhooks">{t('keys.docs')}</Link>
      </p>
      <Endpoints calls={ownEndpoints} canChange={canChange} onLog={setLog} />
      {log && (
        <Dialog size="xl" onClose={() => setLog(null)} title={t('hooks.logOf', { url: log.description || log.url })}>
          <DeliveryLog endpointId={log.id} canResend={canChange} />
        </Dialog>
      )}
    </>
  )
}
