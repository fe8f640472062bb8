import '../../kit/styles/forms.ts'
import { Tabs } from '@mantine/core'
import { useSearchParams } from 'react-router'
import { useT } from '../../i18n/admin.ts'
import { TabBar } from '../kit/index.ts'
import { BlockedAddresses } from './blocked.tsx'
import { MailLog } from './log.tsx'
import { Previews } from './previews.tsx'

const TABS = ['log', 'blocked', 'preview'] as const

export default function MailsPage() {
  const t = useT()
  const [params, setParams] = useSearchParams()
  const tab = TABS.find(name => name === params.get('tab')) ?? 'log'
  return (
    <Tabs value={tab} onChange={id => id && setParams(id === 'log' ? {} : { tab: id })} keepMounted={false}>
      <TabBar value={tab}>
        <Tabs.Tab value="log">{t('mails.log')}</Tabs.Tab>
        <Tabs.Tab value="blocked">{t('mails.blocked')}</Tabs.Tab>
        <Tabs.Tab value="preview">{t('mails.preview')}</Tabs.Tab>
      </TabBar>
      <Tabs.Panel value="log" pt="md">
        <MailLog />
      </Tabs.Panel>
      <Tabs.Panel value="blocked" pt="md">
        <BlockedAddresses />
      </Tabs.Panel>
      <Tabs.Panel value="preview" pt="md">
        <Previews />
      </Tabs.Panel>
    </Tabs>
  )
}
