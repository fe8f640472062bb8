import type { Collection } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { ActionIcon, Button, Skeleton } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useSession } from '../../api/session.ts'
import { useT } from '../../i18n/index.ts'
import { useNames } from '../../i18n/names.ts'
import { BlockArt } from '../../kit/block-art.tsx'
import { scrollMotion } from '../../kit/scroll-motion.ts'
import classes from './slider.module.css'

export function CollectionSlider() {
  const t = useT()
  const strip = useRef<HTMLUListElement>(null)
  const { data, isPending } = useQuery(read(catalog.collections, { query: { limit: 50 } }))
  const collections = data?.data
  const [long, setLong] = useState(false)
  useEffect(() => {
    const list = strip.current
    if (!list) return
    const look = () => setLong(list.scrollWidth > list.clientWidth + 1)
    look()
    const observer = new ResizeObserver(look)
    observer.observe(list)
    return () => observer.disconnect()
  }, [collections])
  if (!isPending && !collections?.length) return null

  const move = (direction: 1 | -1) => {
    const list = strip.current
    list?.scrollBy({ left: direction * list.clientWidth * 0.8, behavior: scrollMotion() })
  }
  return (
    <section className="wide" style={{ paddingBlock: '1rem 3rem' }} aria-labelledby="collections">
      <div className="row between" style={{ gap: '0.5rem', marginBottom: '1rem' }}>
        <h2 id="collections">{t('landing.collections')}</h2>
        <div className={classes.arrows} data-idle={!long || undefined}>
          <ActionIcon variant="default" size="lg" aria-label={t('previous')} onClick={() => move(-1)}>
            <IconChevronLeft size={18} />
          </ActionIcon>
          <ActionIcon variant="default" size="lg" aria-label={t('next')} onClick={() => move(1)}>
            <IconChevronRight size={18} />
          </ActionIcon>
        </div>
      </div>
      <ul ref={strip} className={classes.strip} aria-label={t('landing.collections')}>
        {isPending
          ? [1, 2, 3, 4].map(key => (
              <li key={key} className={classes.slide}>
                <Skeleton height="100%" radius="md" />
              </li>
            ))
          : collections?.map(collection => <Slide key={collection.id} collection={collection} />)}
      </ul>
    </section>
  )
}

function Slide({ collection }: { collection: Collection }) {
  const t = useT()
  const names = useNames()
  const name = names.collection(collection)
  const { user } = useSession()
  const [broken, setBroken] = useState(false)
  const home = user?.is_superuser ? pageAt('Orders') : pageAt('Proxies')
  return (
    <li className={`card ${classes.slide}`}>
      <Link to={home} className={classes.picture} aria-label={t('landing.toDashboard', { name })}>
        {collection.image_url && !broken ? (
          <img
            src={collection.image_url}
            alt=""
            width={320}
            height={150}
            loading="lazy"
            onError={() => setBroken(true)}
          />
        ) : (
          <BlockArt seed={collection.collection_name} cols={24} rows={11} className={classes.art} />
        )}
      </Link>
      <div className="stack panel" style={{ gap: '0.3rem', flex: 1 }}>
        <h3>{name}</h3>
        <p className={`dim ${classes.desc}`}>{names.text(collection, collection.collection_desc, 'desc')}</p>
        <div className="row unwrapped between" style={{ gap: 0, marginTop: 'auto' }}>
          <span className="dim num">{t('landing.plans', { count: collection.product_count })}</span>
          <Button
            component={Link}
            to={`${pageAt('product')}?parId=${collection.id}`}
            size="xs"
            variant="default"
            aria-label={`${t('landing.view')}: ${name}`}
          >
            {t('landing.view')}
          </Button>
        </div>
      </div>
    </li>
  )
}
