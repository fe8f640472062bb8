import '../../kit/styles/forms.ts'
import { Button } from '@mantine/core'
import { IconBrandDiscord } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { settings } from '../../api/routes.ts'
import { useT } from '../../i18n/index.ts'
import { useTitle } from '../../kit/use-title.ts'
import { webAddress } from '../../kit/web-address.ts'
import { Faq } from './faq.tsx'
import classes from './support.module.css'
import { TicketForm } from './ticket-form.tsx'

export default function SupportPage() {
  const t = useT()
  useTitle(t('support.title'))
  const { data: social } = useQuery({ ...read(settings.social), staleTime: Infinity })
  const discord = webAddress(social?.discord)
  return (
    <div className="wide page">
      <h1>{t('support.title')}</h1>
      <p className="dim" style={{ marginTop: '0.4rem' }}>
        {t('support.lead')}
      </p>
      <div className={classes.columns}>
        <section id="faq" className="stack" aria-labelledby="faq-title">
          <h2 id="faq-title">{t('support.faq')}</h2>
          <Faq />
        </section>
        <div className="stack">
          <section id="contact" className={`card ${classes.box}`} aria-labelledby="contact-title">
            <h2 id="contact-title">{t('support.ticket')}</h2>
            <p className="dim">{t('support.ticketHint')}</p>
            <TicketForm />
          </section>
          {discord && (
            <section className={`card ${classes.box}`} aria-labelledby="community-title">
              <h2 id="community-title">{t('support.community')}</h2>
              <p className="dim">{t('support.communityHint')}</p>
              <Button
                component="a"
                href={discord}
                target="_blank"
                rel="noopener noreferrer"
                variant="default"
                leftSection={<IconBrandDiscord size={19} aria-hidden />}
              >
                {t('support.communityOpen')}
              </Button>
            </section>
          )}
        </div>
      </div>
    </div>
  )
}
