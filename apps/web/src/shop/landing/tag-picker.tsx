import { Button, Skeleton } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/index.ts'
import { notify } from '../../kit/notify.ts'
import classes from './landing.module.css'

type Props = { applied: number[]; onConfirm: (tags: number[]) => void }

export function TagPicker({ applied, onConfirm }: Props) {
  const t = useT()
  const [chosen, setChosen] = useState<number[]>(applied)
  const [shown, setShown] = useState(applied.join())
  // Back and forward: what is marked is what the table shows.
  if (shown !== applied.join()) {
    setShown(applied.join())
    setChosen(applied)
  }
  const { data, isPending } = useQuery(read(catalog.tags, { query: { limit: 100 } }))
  const tags = data?.data.filter(tag => tag.tag_name.trim())
  if (!isPending && !tags?.length) return null

  const toggle = (id: number) => setChosen(chosen.includes(id) ? chosen.filter(one => one !== id) : [...chosen, id])
  const confirm = () => (chosen.length > 0 ? onConfirm(chosen) : notify('bad', t('landing.selectTag')))

  return (
    <div className={classes.picker}>
      <ul className={classes.tags} aria-label={t('landing.tags')}>
        {isPending
          ? [5, 7, 4, 6, 5].map((width, index) => (
              <li key={index}>
                <Skeleton height={36} width={`${width}rem`} radius="xl" />
              </li>
            ))
          : tags?.map(tag => (
              <li key={tag.id}>
                <button
                  type="button"
                  className={classes.tag}
                  aria-pressed={chosen.includes(tag.id)}
                  title={tag.tag_desc || undefined}
                  onClick={() => toggle(tag.id)}
                >
                  {chosen.includes(tag.id) && <IconCheck size={15} aria-hidden />}
                  {tag.tag_name}
                </button>
              </li>
            ))}
      </ul>
      <div className="row">
        <Button
          variant="default"
          onClick={() => {
            setChosen([])
            onConfirm([])
          }}
        >
          {t('reset')}
        </Button>
        <Button onClick={confirm}>{t('confirm')}</Button>
      </div>
    </div>
  )
}
