import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { Moment } from '../../kit/time.tsx'
import { May, useCommand, WorkButton } from '../kit/index.ts'
import classes from './settings.module.css'

/** The secret that signed the last webhook, and until when a former one is accepted. */
export function WebhookSecretsState() {
  const t = useT()
  const { data } = useQuery(read(settings.webhookSecrets))
  const end = useCommand(settings.endFormerSecrets, {
    invalidate: [settings.webhookSecrets, settings.health],
    success: t('webSettings.secrets.wasEnded'),
    confirm: { title: t('webSettings.secrets.end'), body: t('webSettings.secrets.endBody'), danger: true }
  })
  if (!data) return null
  const { signed, former_until: until } = data
  return (
    <section className={`card ${classes.tests}`} aria-label={t('webSettings.secrets.title')}>
      <div className={classes.test}>
        <strong>{t('webSettings.secrets.title')}</strong>
        <p role="status" data-ok={signed?.by === 'present'}>
          {signed ? t(`webSettings.secrets.${signed.by}`, { topic: signed.topic }) : t('webSettings.secrets.none')}
          {signed && (
            <span className="dim">
              {' · '}
              <Moment at={signed.at} />
            </span>
          )}
        </p>
      </div>
      {until && (
        <div className={classes.test}>
          <May make={settings.endFormerSecrets}>
            <WorkButton variant="default" size="sm" working={end.running} onClick={() => void end.run({})}>
              {t('webSettings.secrets.end')}
            </WorkButton>
          </May>
          <p>
            {t('webSettings.secrets.until')} <Moment at={until} />
          </p>
        </div>
      )}
    </section>
  )
}
