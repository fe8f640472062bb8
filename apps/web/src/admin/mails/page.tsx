import '../../kit/styles/forms.ts'
import { Tabs } from '@mantine/core'
import { useT } from '../../i18n/admin.ts'
import { MailLog } from './log.tsx'
import { Previews } from './previews.tsx'

/** What was sent to whom, and what each mail looks like. */
export default function MailsPage() {
  const t = useT()
  return (
    <Tabs defaultValue="log" keepMounted={false}>
      <Tabs.List>
        <Tabs.Tab value="log">{t('mails.log')}</Tabs.Tab>
        <Tabs.Tab value="preview">{t('mails.preview')}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="log" pt="md">
        <MailLog />
      </Tabs.Panel>
      <Tabs.Panel value="preview" pt="md">
        <Previews />
      </Tabs.Panel>
    </Tabs>
  )
}
