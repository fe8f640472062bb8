import { ActionIcon, Button, Skeleton } from '@mantine/core'
import type { Collection } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { IconCheck, IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useId, useRef, useState } from 'react'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useSession } from '../../api/session.ts'
import { useT } from '../../i18n/index.ts'
import { useNames } from '../../i18n/names.ts'
import { BlockArt } from '../../kit/block-art.tsx'
import { useSkipTarget } from '../../kit/skip-links.ts'
import { scrollMotion } from '../../kit/scroll-motion.ts'
import { numberOf, useAddress } from '../../kit/use-address.ts'
import { useTitle } from '../../kit/use-title.ts'
import { Below } from './below.tsx'
import classes from './landing.module.css'
import { ProductTable } from './product-table.tsx'
import { Proof } from './proof.tsx'
import collectionSliderClasses from './slider.module.css'

/** Largest number of tags in a query. */
const MOST = 20

/** The unique tags in an address (`?tags=1,2`). Invalid ids are ignored. */
const tagsIn = (query: URLSearchParams): number[] =>
  [...new Set((query.get('tags') ?? '').split(',').flatMap(part => numberOf(part) ?? []))].slice(0, MOST)

/** Rows on the landing page before 'See more'. */
const ROWS = 8

export function Landing() {
  const t = useT()
  useTitle(t('landing.title'))
  useSkipTarget('plans', t('skip.plans'))
  const { query, change } = useAddress()
  const tags = tagsIn(query)
  const setTags = (ids: number[]) => change({ tags: ids.join(',') || null }, { push: true })
  const all = useQuery({ ...read(catalog.products, { query: { limit: ROWS } }), enabled: tags.length === 0 })
  const matching = useQuery({
    ...read(catalog.recommended, { query: { tags: tags.join(',') } }),
    enabled: tags.length > 0
  })
  const shown = tags.length > 0 ? matching : all
  const products = tags.length > 0 ? matching.data?.slice(0, ROWS) : all.data?.data

  return (
    <>
      <section className="band">
        <div className="wide hero">
          <div className="hero-words">
            <h1>{t('landing.title')}</h1>
            <p className="hero-lead">{t('landing.lead')}</p>
            <div className="row hero-actions">
              <Button component={Link} to={pageAt('product')} size="md" className={classes.act}>
                {t('landing.browse')}
              </Button>
              <Button component={Link} to={pageAt('support')} size="md" variant="default" className={classes.other}>
                {t('landing.ask')}
              </Button>
            </div>
            <p className="hero-note">{t('landing.note')}</p>
          </div>
          <BlockArt seed="127.10.0.0/16" cols={26} rows={14} letter={{ x: 16, y: 3 }} className={classes.art} />
        </div>
      </section>
      <Proof />
      <CollectionSlider />
      <section className={`wide ${classes.find}`} aria-labelledby="find">
        <h2 id="find">{t('landing.find')}</h2>
        <p className="dim" style={{ marginTop: '0.25rem' }}>
          {t('landing.findHint')}
        </p>
        <TagPicker applied={tags} onConfirm={setTags} />
        <div id="plans">
          <ProductTable
            products={products}
            pending={shown.isPending}
            error={shown.error}
            rows={ROWS}
            onRetry={() => void shown.refetch()}
            onReset={tags.length > 0 ? () => setTags([]) : undefined}
          />
        </div>
      </section>
      <Below />
    </>
  )
}

type Props = { applied: number[]; onConfirm: (tags: number[]) => void }

function TagPicker({ applied, onConfirm }: Props) {
  const t = useT()
  const names = useNames()
  const [chosen, setChosen] = useState<number[]>(applied)
  const [shown, setShown] = useState(applied.join())
  const [missing, setMissing] = useState(false)
  const problem = useId()
  const choose = (ids: number[]) => {
    setMissing(false)
    setChosen(ids)
  }
  // After Back or Forward, mark the tags that the table shows.
  if (shown !== applied.join()) {
    setShown(applied.join())
    choose(applied)
  }
  const { data, isPending } = useQuery(read(catalog.tags, { query: { limit: 100 } }))
  const tags = data?.data.filter(tag => tag.tag_name.trim())
  if (!isPending && !tags?.length) return null

  const toggle = (id: number) => choose(chosen.includes(id) ? chosen.filter(one => one !== id) : [...chosen, id])
  const confirm = () => (chosen.length > 0 ? onConfirm(chosen) : setMissing(true))

  return (
    <div className="row start between" style={{ gap: '1rem', minHeight: '2.4rem', marginBlock: '1.25rem' }}>
      <ul
        className="row stretch"
        style={{ gap: '0.5rem', flex: '1 1 24rem' }}
        aria-label={t('landing.tags')}
        aria-invalid={missing || undefined}
        aria-describedby={missing ? problem : undefined}
      >
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
                  title={names.text(tag, tag.tag_desc, 'desc') || undefined}
                  onClick={() => toggle(tag.id)}
                >
                  {chosen.includes(tag.id) && <IconCheck size={15} aria-hidden />}
                  {names.tag(tag)}
                </button>
              </li>
            ))}
      </ul>
      <div className="row">
        <Button
          variant="default"
          onClick={() => {
            choose([])
            onConfirm([])
          }}
        >
          {t('reset')}
        </Button>
        <Button onClick={confirm}>{t('confirm')}</Button>
      </div>
      {missing && (
        <p id={problem} role="alert" className={classes.problem}>
          {t('landing.selectTag')}
        </p>
      )}
    </div>
  )
}

function CollectionSlider() {
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
        <div className={collectionSliderClasses.arrows} data-idle={!long || undefined}>
          <ActionIcon variant="default" size="lg" aria-label={t('previous')} onClick={() => move(-1)}>
            <IconChevronLeft size={18} />
          </ActionIcon>
          <ActionIcon variant="default" size="lg" aria-label={t('next')} onClick={() => move(1)}>
            <IconChevronRight size={18} />
          </ActionIcon>
        </div>
      </div>
      <ul ref={strip} className={collectionSliderClasses.strip} aria-label={t('landing.collections')}>
        {isPending
          ? [1, 2, 3, 4].map(key => (
              <li key={key} className={collectionSliderClasses.slide}>
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
    <li className={`card ${collectionSliderClasses.slide}`}>
      <Link to={home} className={collectionSliderClasses.picture} aria-label={t('landing.toDashboard', { name })}>
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
          <BlockArt seed={collection.collection_name} cols={24} rows={11} className={collectionSliderClasses.art} />
        )}
      </Link>
      <div className="stack panel" style={{ gap: '0.3rem', flex: 1 }}>
        <h3>{name}</h3>
        <p className={`dim ${collectionSliderClasses.desc}`}>
          {names.text(collection, collection.collection_desc, 'desc')}
        </p>
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
