import '../../kit/styles/forms.ts'
import { pageAt } from '@netlet/contract/pages'
import { Tabs } from '@mantine/core'
import { useNavigate, useSearchParams } from 'react-router'
import { useMay } from '../../api/may.ts'
import { webhooks } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { operatorEndpoints } from '../../kit/webhooks/calls.ts'
import { Endpoints } from '../../kit/webhooks/endpoints.tsx'
import { TabBar } from '../kit/index.ts'
import { WebhookLog } from './log.tsx'

const LOG = pageAt('webhooks')

export default function WebhooksPage() {
  const t = useT()
  const [params, setParams] = useSearchParams()
  const navigate = useNavigate()
  const { mayCall } = useMay()
  const tab = params.get('tab') === 'endpoints' ? 'endpoints' : 'log'
  return (
    <Tabs value={tab} onChange={id => id && setParams(id === 'log' ? {} : { tab: id })} keepMounted={false}>
      <TabBar value={tab}>
        <Tabs.Tab value="log">{t('hooks.log')}</Tabs.Tab>
        <Tabs.Tab value="endpoints">{t('hooks.endpoints')}</Tabs.Tab>
      </TabBar>
      <Tabs.Panel value="log" pt="md">
        <WebhookLog />
      </Tabs.Panel>
      <Tabs.Panel value="endpoints" pt="md">
        <section className="card stack" aria-label={t('hooks.endpoints')} style={{ padding: '1.25rem' }}>
          <p className="dim">{t('hooks.hint')}</p>
          <Endpoints
            calls={operatorEndpoints}
            canChange={mayCall(webhooks.createOperatorEndpoint)}
            onLog={({ id }) => void navigate(`${LOG}?endpoint_id=${id}`)}
          />
        </section>
      </Tabs.Panel>
    </Tabs>
  )
}
