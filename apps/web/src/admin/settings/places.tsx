import type { GeofeedProposal, ServerPlace } from '@netlet/contract'
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { fleet } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { figures, May, useCommand, WorkButton } from '../kit/index.ts'
import classes from './settings.module.css'

const FIELDS = ['country', 'region', 'city', 'postal'] as const
const NOWHERE: ServerPlace = { country: '', region: '', city: '', postal: '' }

type Server = GeofeedProposal['servers'][number]

/** Where each server is located: the saved place, or a guess from its groups to be saved. */
export function Places({ servers }: { servers: readonly Server[] }) {
  const t = useT()
  const [typed, setTyped] = useState<Record<number, ServerPlace>>({})
  const save = useCommand(fleet.savePlaces, { success: t('geofeed.placesSaved'), invalidate: [fleet.geofeedProposal] })
  const shown = ({ id, place, guess }: Server) => typed[id] ?? place ?? guess ?? NOWHERE
  const changed = servers.filter(server => {
    const before = server.place ?? NOWHERE
    return FIELDS.some(field => shown(server)[field] !== before[field])
  })
  return (
    <form
      className="stack"
      noValidate
      onSubmit={event => {
        event.preventDefault()
        void save.run({ body: { places: changed.map(server => ({ server_id: server.id, ...shown(server) })) } })
      }}
    >
      <h4>{t('geofeed.places')}</h4>
      <p className="dim">{t('geofeed.placesHint')}</p>
      <ul className={`stack ${classes.places}`}>
        {servers.map(server => (
          <li key={server.id}>
            <div>
              <strong>{server.name}</strong>
              <div className="dim">
                {[server.groups.join(', '), t('geofeed.ranges', figures({ count: server.ranges }))]
                  .filter(part => part !== '')
                  .join(' · ')}
              </div>
              {!server.place && server.guess && !typed[server.id] && <div>{t('geofeed.suggested')}</div>}
            </div>
            {FIELDS.map(field => (
              <TextInput
                key={field}
                label={t(`geofeed.${field}`)}
                aria-label={t('geofeed.of', { field: t(`geofeed.${field}`), server: server.name })}
                autoComplete="off"
                value={shown(server)[field]}
                onChange={event =>
                  setTyped({ ...typed, [server.id]: { ...shown(server), [field]: event.currentTarget.value } })
                }
              />
            ))}
          </li>
        ))}
      </ul>
      {changed.length > 0 && (
        <May make={fleet.savePlaces}>
          <div>
            <WorkButton type="submit" size="sm" working={save.running}>
              {t('geofeed.savePlaces')}
            </WorkButton>
          </div>
        </May>
      )}
    </form>
  )
}
