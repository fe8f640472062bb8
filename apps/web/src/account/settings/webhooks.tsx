import '../../kit/styles/overlays.ts'
import type { WebhookEndpoint } from '@netlet/contract'
import { Modal } from '@mantine/core'
import { useState } from 'react'
import { useSession } from '../../api/session.ts'
import { useT } from '../../i18n/account.ts'
import { t as word } from '../../i18n/index.ts'
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
        {t('hooks.hint')} <a href="/api/docs">{t('keys.docs')}</a>
      </p>
      <Endpoints calls={ownEndpoints} canChange={canChange} onLog={setLog} />
      {log && (
        <Modal
          opened
          size="xl"
          onClose={() => setLog(null)}
          title={t('hooks.logOf', { url: log.description || log.url })}
          closeButtonProps={{ 'aria-label': word('close') }}
        >
          <DeliveryLog endpointId={log.id} canResend={canChange} />
        </Modal>
      )}
    </>
  )
}
